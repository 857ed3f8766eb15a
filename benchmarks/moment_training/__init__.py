"""The tables and figures of Ghanbari, Li and Scheinberg 2019, measured again."""
