// Takes one payment and works on it until somebody kills this process: node claim-process.ts URL LEASE_MS REQUEST
import { Claims } from "../../src/claims/claims.ts";
import { ClaimStore } from "../../src/claims/store.ts";

const [url = "", leaseMs, request = ""] = process.argv.slice(2);
const onError = (error: unknown) => console.error(error);
const store = await ClaimStore.open({ url, clock: Date.now, leaseMs: Number(leaseMs), onError });
await new Claims(store, Date.now, onError).take(JSON.parse(request));
process.stdout.write("taken\n");
setInterval(() => undefined, 1_000);
