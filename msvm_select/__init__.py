"""Choose the hyperparameters of multi-class support vector machines, exactly."""
