#!/usr/bin/env python3
"""libvipl.so defines Vip* and nothing else: programs have symbols of their own.   usage: exports.py NM LIBRARY"""

import subprocess
import sys

output = subprocess.run([sys.argv[1], "-D", "--defined-only", sys.argv[2]], check=True, capture_output=True, text=True)
names = [line.split()[-1].split("@")[0] for line in output.stdout.splitlines()]
foreign = [name for name in names if not name.startswith("Vip")]
print(f"{len(names)} symbols, foreign: {foreign}")
sys.exit(0 if "VipOpenNic" in names and not foreign else 1)
