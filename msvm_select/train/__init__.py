"""From data and settings to trained cells: preparation, and the loop over C."""
