import { Interface } from "ethers";

const CHECKPOINT = "(uint256 sequence, bytes32 chain, uint256 count, uint256 timestamp)";

export const poolInterface = new Interface([
  "event Deposited(uint256 indexed ownerTag, uint256 amount, uint256 commitment, uint256 leafIndex)",
  "event Settled(uint256 indexed nullifier, bytes32 digest, uint256 encryptedAmountR, uint256 encryptedAmountC, uint256 amountHint, uint256 changeHint, uint256 recipientCommitment, uint256 changeCommitment, uint256 leafIndex)",
  "event Withdrawn(address indexed recipient, bytes32 digest, uint256[8] nullifiers, uint256 amount, uint256 fee, address feeRecipient, uint64 validUntil, uint256 changeHint, uint256 commitment, uint256 leafIndex)",
  "event Appended(uint256 indexed newRoot, uint256 startIndex, uint256 count)",
  "function deposit(uint256[] ownerTags, uint64[] amounts)",
  "function depositWithAuthorization(address from, uint256[] ownerTags, uint64[] amounts, bytes32 salt, uint256 validAfter, uint256 validBefore, uint8 v, bytes32 r, bytes32 s)",
  "function settle((uint256[8] proof, uint256[10] signals, uint64 validUntil, bytes32 resourceDigest)[] payments) returns (uint8[] outcomes)",
  "function withdraw((uint256[8] proof, uint256[13] signals, address recipient, uint256 fee, address feeRecipient, uint64 validUntil) withdrawal)",
  `function append(uint256 newRoot, uint256[] leaves, uint256[8] proof, ${CHECKPOINT} end, ${CHECKPOINT} next)`,
  "function root() view returns (uint256)",
  "function isKnownRoot(uint256 value) view returns (bool)",
  "function isSpent(uint256 nullifier) view returns (bool)",
  "function queue() view returns ((uint256 size, uint256 appended, bytes32 chain, bytes32 appendedChain, uint256 firstPending, uint256 open, uint256 openLeaves, uint256 openBlock, uint256 openTimestamp))",
  "function EMPTY_ROOT() view returns (uint256)",
  "function token() view returns (address)",
  "function smallestDeposit() view returns (uint64)",
]);

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
]);
