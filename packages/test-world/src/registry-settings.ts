// Settings of a phone registry on a test chain.
import { PATIENT } from "./patient.ts";

/** No effective rate limits, because all requests of the tests come from one address. */
export const NO_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(
  ["CODES_NUMBER", "CODES_WALLET", "CODES_CLIENT", "CODES_TOTAL", "TRIES_CLIENT", "LOOKUPS_CLIENT", "LOOKUPS_CALLER"]
    .concat(["LOOKUPS_RANGE", "LOOKUPS_CLIENT_RANGE"])
    .map((name) => [`SOTTO_PHONE_${name}`, "1000000/86400"]),
);

interface Place {
  readonly chainId: number;
  readonly pool: string;
  readonly node: { readonly url: string };
}

/** A registry with a database in memory; the caller chooses the sender of the codes. */
export const registryEnvironment = ({ chainId, pool, node }: Place): Record<string, string> => ({
  SOTTO_PORT: "0",
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
  SOTTO_RPC_URLS: node.url,
  SOTTO_RATE_LIMIT: "1000000",
  ...PATIENT,
  SOTTO_PHONE_STORE: "sqlite::memory:",
  SOTTO_PHONE_SENDER: "file",
});
