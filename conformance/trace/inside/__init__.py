"""`trace --inside`: when each block of a kernel started, waited, triggered and ended, from the device's own clock."""
