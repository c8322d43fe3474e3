"""Pictures of results and machines, by matplotlib: never a window, only files.

Each module draws one of them: records -> a Figure. ``files`` turns it into the bytes of
a PNG, SVG or PDF; nothing here needs a screen.
"""
