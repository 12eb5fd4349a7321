/** Settings of a service on a slow or busy machine: it never times out or rejects requests because of the load. */
export const PATIENT: Readonly<Record<string, string>> = { SOTTO_RPC_TIMEOUT_MS: "60000", SOTTO_LATEST_LOOP_MS: "0" };
