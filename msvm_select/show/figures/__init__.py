"""The renderer of pictures: charts -> PNG, SVG or PDF, by matplotlib."""
