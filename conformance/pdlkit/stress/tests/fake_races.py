"""A program that races by rule: argv names the pairs and the kernels; it reads the plan as the injection library would."""
import os,json,sys
pairs=json.loads(sys.argv[1]); ks=json.loads(sys.argv[2])
plan={}
for l in open(os.environ["PDL_STRESS_PLAN"]):
    w=l.split()
    if len(w)==5: plan[w[0]]=list(map(int,w[1:]))
r=os.environ.get("PDL_STRESS_RECORDS")
if r:
    with open(r,"a") as f:
        for k in ks:
            f.write(json.dumps({"record":"kernel","name":k,"rewritten":True})+"\n")
            f.write(json.dumps({"record":"launches","name":k,"eager":0,"captured":3,"built":0,"attribute":3,"before_attribute":3})+"\n")
fl=lambda k: plan.get(k,plan["*"])[0]
bad=any(fl(a)&2 and not (fl(b)&2 and a!=b) and not fl(b)&4 for a,b in pairs)
print("result", 13 if bad else 7)
