// Interprets the `error` of a JSON-RPC response. There is no standard, so the patterns match the exact messages of known nodes. A
// node's internal error ("state reverted to a snapshot") must not be mistaken for a revert of the contract.
import { CallReverted, ChainError, RpcErrorResponse } from "../errors.ts";

interface RpcError {
  readonly code: number | undefined;
  readonly message: string;
  readonly data: unknown;
}

/** geth, Erigon, Reth, Besu, Nethermind, anvil: the EVM aborted the call. */
const EXECUTION_FAILED =
  /^(?:err(?:or)?: |evm error: )*(?:execution reverted|reverted?(?=$|:| with)|out ?of ?gas|invalid ?(?:fe ?)?opcode|invalid ?jump|stack ?(?:underflow|overflow|limit ?reached)|gas required exceeds allowance|contract creation code storage out of gas|max (?:initcode|code) size exceeded|intrinsic gas too low|gas uint64 overflow|write protection|return data out of bounds)/i;
/** Hardhat and Ganache. */
const DEVELOPMENT_NODE =
  /^(?:error: )?(?:vm exception while processing transaction|transaction (?:reverted|ran out of gas))/i;
/** geth's code for an error with revert data. */
const REVERTED = 3;
/** The code of Nethermind and OpenEthereum for "VM execution error". */
const VM_EXECUTION_ERROR = -32015;

const UNFUNDED =
  /^(?:err(?:or)?: )*(?:insufficient ?(?:funds for|sender ?balance|balance for)|not enough funds for|upfront cost exceeds account balance|sender doesn'?t have enough funds)/i;

/** The methods that can report a revert; for eth_sendRawTransaction, only nodes that mine immediately do. */
const EXECUTING = ["eth_call", "eth_estimateGas", "eth_sendRawTransaction"];
const CALLING = ["eth_call", "eth_estimateGas"];

/** Converts the `error` of a response to `method`. */
export function errorOf(node: string, method: string, value: unknown): ChainError {
  const error = read(value);
  // "intrinsic gas too low" is a failed execution in a call, but a refusal of a transaction. ZKsync refuses transactions with
  // the code of a revert.
  const isRefused = !CALLING.includes(method) && isRefusedTransaction(error.message);
  if (EXECUTING.includes(method) && !isRefused) {
    const data = revertData(error);
    if (data !== undefined) return new CallReverted(data);
  }
  if (CALLING.includes(method) && UNFUNDED.test(error.message))
    return new ChainError("SENDER_UNFUNDED", "the sending account cannot pay for the gas of the call", { node });
  return new RpcErrorResponse(node, method, error.code, error.message);
}

function read(value: unknown): RpcError {
  const { code, message, data } = Object(value) as Record<string, unknown>;
  return {
    code: typeof code === "number" && Number.isSafeInteger(code) ? code : undefined,
    message: String(typeof value === "string" ? value : (message ?? "")),
    data: data !== null && typeof data === "object" && "data" in data ? data.data : data,
  };
}

/** The revert data, "0x" if the node does not return it; undefined if the error is not a revert. */
function revertData({ code, message, data }: RpcError): string | undefined {
  // OpenEthereum and Nethermind: "Reverted 0x..".
  const hex = typeof data === "string" ? data.replace(/^reverted /i, "").toLowerCase() : "";
  const isHex = /^0x(?:[0-9a-f]{2})*$/.test(hex);
  const failed = code === REVERTED || code === VM_EXECUTION_ERROR;
  if (failed || EXECUTION_FAILED.test(message) || DEVELOPMENT_NODE.test(message)) return isHex ? hex : "0x";
  // Revert data is a selector followed by whole words. A block hash in `data` does not have that length.
  return isHex && hex.length >= 10 && (hex.length - 10) % 64 === 0 ? hex : undefined;
}

/** Words of nodes that refuse a transaction because of the transaction itself, and not because of an internal error. */
const REFUSALS: readonly RegExp[] = [
  // Nonces. Older versions of Nethermind return names: OldNonce, NonceGap, OwnNonceAlreadyUsed.
  /nonce (?:is )?too (?:low|high|far)|old ?nonce|nonce ?gap|nonce ?already ?used|gapped.?nonce|invalid (?:nonce|sequence)/i,
  // Prices.
  /underpriced|(?:fee|price)(?: \S+)? (?:is )?(?:too low|below|less than)|fee ?too ?low|max (?:fee|priority fee) per gas|fee cap/i,
  /replacement ?not ?allowed|could not replace|same nonce/i,
  // Funds.
  /insufficient ?(?:funds|(?:sender ?)?balance)|(?:not |have )enough (?:funds|balance)|exceeds account balance|overdraft/i,
  // Limits. Nodes accept few transactions of an account with an EIP-7702 delegation at a time.
  /intrinsic ?gas|gas ?limit|exceeds (?:the )?(?:block|configured) |oversized data|delegat/i,
  // Forms.
  /invalid (?:sender|signature|transaction|chain ?id)|replay-protected|rlp: |rlp ?too ?long|not supported: type/i,
  /transaction type|not an? eoa|sender ?is ?contract/i,
];
const KNOWN_TRANSACTION =
  /already ?known|already imported|\bknown transaction|already in (?:the )?mempool|already exists|transaction already|existing txn? with same hash/i;

/** Whether a node refused a transaction because of the transaction itself, and not because of an internal error. */
export const isRefusedTransaction = (text: string): boolean => REFUSALS.some((words) => words.test(text));
/** Whether a node refused a transaction because it already has it. */
export const isKnownTransaction = (text: string): boolean => KNOWN_TRANSACTION.test(text);

/** geth and Bor name the lowest priority fee that they accept. */
const LOWEST_TIP = /gas tip cap \d+, minimum needed (\d{1,30})\b/i;

/** The lowest priority fee in wei that a node accepts, if its refusal names it. */
export function lowestTip(text: string): bigint | undefined {
  const [, wei] = LOWEST_TIP.exec(text) ?? [];
  return wei === undefined ? undefined : BigInt(wei);
}

/** Words of providers that do not offer a method; they use many codes. */
const UNSUPPORTED_METHOD =
  /method\b.{0,80}\b(?:not (?:found|supported|available|allowed|enabled|whitelisted)|does not exist|disabled)|unsupported method/i;

/** The node does not support the method: by the codes of JSON-RPC and EIP-1474, or in words. That is not a fault. */
export const isUnsupportedMethod = (error: unknown): boolean =>
  error instanceof RpcErrorResponse &&
  (error.rpcCode === -32601 || error.rpcCode === -32004 || UNSUPPORTED_METHOD.test(error.text));
