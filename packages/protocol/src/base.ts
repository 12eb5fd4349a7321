/**
 * Entry `@sotto/protocol/base`: what the prover needs of the protocol. It imports no curves and hashes, which take longer to
 * load than everything else together, so that a process proves soon after its start.
 */
export { isArrayBuffer } from "./bytes.ts";
export { LOCAL_CHAIN_IDS, REHEARSAL_CHAIN_ID } from "./local-chains.ts";
export { createErrorClass, type ErrorDetails, type ErrorTable, SottoError } from "./sotto-error.ts";
export { ANONYMOUS } from "./wire/anonymous.ts";
export { baseUrl } from "./wire/base-url.ts";
export { readBody } from "./wire/read-body.ts";
