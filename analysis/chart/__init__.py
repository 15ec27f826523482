"""A chart is said once, as panels of marks, and drawn twice: on paper and on the screen.

`model` is what a chart says, `style` how it looks, `paper` draws it with matplotlib (PDF, PNG,
SVG), `screen` hands it to the page's script, which draws it with Plotly. Both get the same
numbers, the same ends of the axes, the same colours, dashes, markers and hatches.
"""
