"""What is drawn, without drawing: the models that text, figures and page share."""
