"""What a fit returns: cards, operating points, calibrations, reports, and how they are printed."""
