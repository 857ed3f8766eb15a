"""Zhang, Saha and Vishwanathan 2012: smoothing metrics that have corners, against BMRM."""
