"""What tracked runs show: tables 1-8 and figures 2, 4, 5, 6 with their uncertainty, and one page about everything."""
