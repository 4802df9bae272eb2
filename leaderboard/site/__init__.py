"""The parts that all public pages share: the cached board, rendering, answers, colours, the layout."""
