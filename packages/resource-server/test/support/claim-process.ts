// Acquires one payment and holds it until this process is killed: node claim-process.ts URL LEASE_MS REQUEST
import { PaymentClaims } from "../../src/claims/claims.ts";
import { ClaimStore } from "../../src/claims/store.ts";

const [url = "", leaseMs, request = ""] = process.argv.slice(2);
const onError = (error: unknown) => console.error(error);
const store = await ClaimStore.open({ url, clock: Date.now, leaseMs: Number(leaseMs), onError });
await new PaymentClaims(store, Date.now, onError).acquire(JSON.parse(request));
process.stdout.write("acquired\n");
setInterval(() => undefined, 1_000);
