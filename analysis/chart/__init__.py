"""Charts: declared once as panels of marks, and drawn for print and for the screen.

`model` declares a chart, and `style` how it looks. `paper` draws it with matplotlib (PDF, PNG,
SVG). `screen` passes it to the page's script, which draws it with Plotly. Both use the same
numbers, axis limits, colours, dashes, markers and hatches.
"""
