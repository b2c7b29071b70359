"""Local questions, settled by proof: can this string be captured?"""
