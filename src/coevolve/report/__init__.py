"""What tracked runs show: tables 5-8 and figures 2a, 4, 5, 6 with their uncertainty, and one page about everything."""
