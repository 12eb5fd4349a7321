// Deposits without gas need EIP-3009: the payer signs an authorization, and the pool redeems it.
import { type Address, DEPOSIT_AUTHORIZATION_TYPES } from "@sotto/protocol";
import { getAddress, Interface, Signature, type TypedDataDomain, TypedDataEncoder, Wallet, ZeroHash } from "ethers";
import { type Ask, askOr } from "./ask.ts";

const TOKEN = new Interface([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

/** An account that redeems an authorization of nothing; any address without code will do. */
const PAYEE = getAddress(`0x${"99".repeat(20)}`);
const FOREVER = 2n ** 256n - 1n;

/**
 * Why a token does not accept EIP-3009 authorizations as wallets sign them; undefined if it does. A throwaway key signs one of
 * 0 units, and `eth_call` redeems it: this covers type hash, domain and signature check together.
 * @throws the provider's error if the node does not answer
 */
export async function authorizationProblem(ask: Ask, token: Address, chainId: number): Promise<string | undefined> {
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
    return "it has no name, version and DOMAIN_SEPARATOR of EIP-712";
  const domain = { name: String(name), version: String(version), chainId, verifyingContract: getAddress(token) };
  if (TypedDataEncoder.hashDomain(domain) !== separator)
    return `its DOMAIN_SEPARATOR is not that of name "${domain.name}", version "${domain.version}" and chain ${chainId}`;
  const accepts = async (signed: TypedDataDomain): Promise<boolean> => {
    const payer = Wallet.createRandom();
    const message = {
      from: payer.address,
      to: PAYEE,
      value: 0n,
      validAfter: 0n,
      validBefore: FOREVER,
      nonce: ZeroHash,
    };
    const { v, r, s } = Signature.from(await payer.signTypedData(signed, DEPOSIT_AUTHORIZATION_TYPES, message));
    const data = TOKEN.encodeFunctionData("receiveWithAuthorization", [...Object.values(message), v, r, s]);
    return (await askOr(ask, "eth_call", [{ from: PAYEE, to: token, data }, "latest"])) !== undefined;
  };
  if (!(await accepts(domain))) return "it refuses a valid authorization of 0 units";
  if (await accepts({ ...domain, chainId: chainId + 1 })) return "it accepts an authorization for another chain";
  return undefined;
}
