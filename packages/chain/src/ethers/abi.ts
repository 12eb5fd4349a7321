import { shieldedPoolAbi } from "@sotto/protocol";
import { Interface } from "ethers";

/** The functions, events and errors of the compiled ShieldedPool. */
export const poolInterface = new Interface(shieldedPoolAbi);

const TERMS = "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce";

/** The parts of an ERC-20 with EIP-3009 that a deposit needs. */
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
]);
