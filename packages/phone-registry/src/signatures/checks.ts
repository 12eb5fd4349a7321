import {
  assertBindingFresh,
  type Bytes32,
  bindingDigest,
  bindingSlots,
  type EthCall,
  type ShieldedAddressBinding,
  unlinkDigest,
  verifyWalletSignature,
} from "@sotto/protocol";
import { RegistryError } from "../errors.ts";
import type { SignatureChecks } from "../registry/options.ts";
import type { LinkRequest, UnlinkRequest } from "../registry/types.ts";
import type { ContractChecks } from "./contract-checks.ts";

/** The chain, pool and registry that signatures are bound to. */
export interface SigningDomain {
  readonly chainId: bigint;
  readonly pool: `0x${string}`;
  /** Public base URL. */
  readonly service: string;
}

/** @param domain the expected values, which are public: see GET /phone */
const invalid = (struct: "ShieldedAddressBinding" | "PhoneUnlink", { chainId, pool, service }: SigningDomain) =>
  new RegistryError(
    "SIGNATURE_INVALID",
    `the signature is not walletAddress's over the EIP-712 struct ${struct} with these fields, chainId ${chainId}, ` +
      `pool ${pool}, service ${service} and an issuedAt of now; its fields and domain are in docs/protocol.md, ` +
      `"Bindings", and ${service}/phone returns the values to sign`,
  );

/** Thrown in the first pass, which checks account signatures without the chain. */
class NoChain extends Error {}
const noChain: EthCall = async () => {
  throw new NoChain();
};

/** Checks wallets' signatures over links and unlinks. */
export function signatureChecks(domain: SigningDomain, contracts: ContractChecks): SignatureChecks {
  const { chainId, pool, service } = domain;
  /** The index of the first digest that the wallet signed. */
  async function firstSigned(
    request: LinkRequest | UnlinkRequest,
    digests: readonly Bytes32[],
    struct: "ShieldedAddressBinding" | "PhoneUnlink",
  ): Promise<number> {
    const { wallet, signature, client } = request;
    for (const [index, digest] of digests.entries()) if (await signedByAccount(wallet, digest, signature)) return index;
    return contracts.run(client, async (call) => {
      for (const [index, digest] of digests.entries())
        if (await verifyWalletSignature(wallet, digest, signature, call)) return index;
      throw invalid(struct, domain);
    });
  }

  return {
    async link(request, now) {
      const { phone, wallet, key, issuedAt } = request;
      if (issuedAt !== undefined) assertBindingFresh({ issuedAt }, now);
      const slots = issuedAt === undefined ? bindingSlots(now) : [issuedAt];
      const fields: Omit<ShieldedAddressBinding, "issuedAt"> = { phone, wallet, key, chainId, pool, service };
      const digests = slots.map((slot) => bindingDigest({ ...fields, issuedAt: slot }));
      const index = await firstSigned(request, digests, "ShieldedAddressBinding");
      return { issuedAt: slots[index]!, digest: digests[index]! };
    },
    async unlink(request, now) {
      const { phone, wallet, issuedAt } = request;
      assertBindingFresh({ issuedAt }, now);
      const digest = unlinkDigest({ phone, wallet, chainId, pool, service, issuedAt });
      await firstSigned(request, [digest], "PhoneUnlink");
      return { digest };
    },
  };
}

async function signedByAccount(wallet: `0x${string}`, digest: Bytes32, signature: string): Promise<boolean> {
  try {
    return await verifyWalletSignature(wallet, digest, signature, noChain);
  } catch (error) {
    if (error instanceof Error && error.cause instanceof NoChain) return false;
    throw error;
  }
}
