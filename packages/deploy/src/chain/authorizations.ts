// Deposits without gas need EIP-3009 or Permit2: the payer signs an authorization, and the pool redeems it.
import { type Address, DEPOSIT_AUTHORIZATION_TYPES, PERMIT2 } from "@sotto/protocol";
import { getAddress, Interface, Signature, type TypedDataDomain, TypedDataEncoder, Wallet, ZeroHash } from "ethers";
import { type Ask, askOr } from "./ask.ts";

const TERMS = "address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce";
const TOKEN = new Interface([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  `function receiveWithAuthorization(${TERMS}, uint8 v, bytes32 r, bytes32 s)`,
]);
/** The function for signatures of any length, which EIP-3009 lacks. */
const WHOLE = new Interface([`function receiveWithAuthorization(${TERMS}, bytes signature)`]);

const PERMIT2_VIEW = new Interface(["function nonceBitmap(address owner, uint256 word) view returns (uint256)"]);

/** An account that redeems an authorization of nothing; any address without code will do. */
const PAYEE = getAddress(`0x${"99".repeat(20)}`);
const FOREVER = 2n ** 256n - 1n;

/** What a token supports. */
export interface TokenSupport {
  /** Why it does not accept EIP-3009 authorizations as wallets sign them; undefined if it does. */
  readonly problem: string | undefined;
  /** Whether it also takes signatures as a whole, as contract accounts sign (EIP-1271, EIP-7702). */
  readonly accounts: boolean;
}

/** Whether the chain has Permit2. @throws the provider's error if the node does not answer */
export async function hasPermit2(ask: Ask): Promise<boolean> {
  const call = { to: PERMIT2, data: PERMIT2_VIEW.encodeFunctionData("nonceBitmap", [PERMIT2, 0n]) };
  return /^0x0{64}$/.test(String(await askOr(ask, "eth_call", [call, "latest"])));
}

/**
 * Tests EIP-3009. A throwaway key signs an authorization of 0 units, and `eth_call` redeems it: this covers type hash, domain and
 * signature check together.
 * @throws the provider's error if the node does not answer
 */
export async function tokenSupport(ask: Ask, token: Address, chainId: number): Promise<TokenSupport> {
  const without = (problem: string): TokenSupport => ({ problem, accounts: false });
  const read = async (name: string): Promise<unknown> => {
    const call = { to: token, data: TOKEN.encodeFunctionData(name) };
    try {
      return TOKEN.decodeFunctionResult(name, String(await askOr(ask, "eth_call", [call, "latest"])))[0];
    } catch (error) {
      // Only ethers' decoder names a wrong result this way.
      if (["BAD_DATA", "INVALID_ARGUMENT", "BUFFER_OVERRUN"].includes((error as { code: string }).code))
        return undefined;
      throw error;
    }
  };
  const [name, version, separator] = [await read("name"), await read("version"), await read("DOMAIN_SEPARATOR")];
  if (name === undefined || version === undefined || separator === undefined)
    return without("it has no name, version and DOMAIN_SEPARATOR of EIP-712");
  const domain = { name: String(name), version: String(version), chainId, verifyingContract: getAddress(token) };
  if (TypedDataEncoder.hashDomain(domain) !== separator)
    return without(
      `its DOMAIN_SEPARATOR is not that of name "${domain.name}", version "${domain.version}" and chain ${chainId}`,
    );
  const accepts = async (signed: TypedDataDomain, whole = false): Promise<boolean> => {
    const payer = Wallet.createRandom();
    const message = {
      from: payer.address,
      to: PAYEE,
      value: 0n,
      validAfter: 0n,
      validBefore: FOREVER,
      nonce: ZeroHash,
    };
    const signature = await payer.signTypedData(signed, DEPOSIT_AUTHORIZATION_TYPES, message);
    const { v, r, s } = Signature.from(signature);
    const terms = Object.values(message);
    const data = whole
      ? WHOLE.encodeFunctionData("receiveWithAuthorization", [...terms, signature])
      : TOKEN.encodeFunctionData("receiveWithAuthorization", [...terms, v, r, s]);
    return (await askOr(ask, "eth_call", [{ from: PAYEE, to: token, data }, "latest"])) !== undefined;
  };
  const elsewhere = { ...domain, chainId: chainId + 1 };
  if (!(await accepts(domain))) return without("it refuses a valid authorization of 0 units");
  if (await accepts(elsewhere)) return without("it accepts an authorization for another chain");
  return { problem: undefined, accounts: (await accepts(domain, true)) && !(await accepts(elsewhere, true)) };
}
