/** Of a server on a machine that is slow or busy: nothing is given up because of that. */
export const PATIENT: Readonly<Record<string, string>> = { SOTTO_RPC_TIMEOUT_MS: "60000", SOTTO_LATEST_LOOP_MS: "0" };
