"""SQL that scores rows: the cells of a binner, the score of a line and the points of a card."""
