import { shieldedPoolAbi } from "@sotto/protocol";
import { Interface } from "ethers";

/** The functions, events and errors of the compiled ShieldedPool. */
export const poolInterface = new Interface(shieldedPoolAbi);

const TERMS = "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce";

/** The parts of an ERC-20, EIP-3009 and EIP-2612 that deposits need. */
export const tokenInterface = new Interface([
  "function approve(address spender, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function decimals() view returns (uint8)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  `function receiveWithAuthorization(${TERMS}, uint8 v, bytes32 r, bytes32 s)`,
  `function receiveWithAuthorization(${TERMS}, bytes signature)`,
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function nonces(address owner) view returns (uint256)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
  "event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)",
]);

const PERMIT = "((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit";

/** The parts of Permit2 that deposits need. */
export const permit2Interface = new Interface([
  `function permitTransferFrom(${PERMIT}, (address to, uint256 requestedAmount) details, address owner, bytes signature)`,
  "function nonceBitmap(address owner, uint256 word) view returns (uint256)",
]);
