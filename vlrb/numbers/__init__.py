"""Number check: item counts and groupings that fit published percentages (in the manner of GRIM).

A table in a paper gives categories, a pooled accuracy ("overall") and a mean of categories ("macro") in percent.
Behind every honest one are whole numbers k of right answers over n items, overall = sum k / sum n and macro = mean of
k / n. Of one benchmark several groupings and sizes may be in circulation (its definition states them); this package
finds the ones that fit, in whole numbers, with no tolerance but the printed digits.
"""
