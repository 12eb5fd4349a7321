// A curator of a real chain, and merchants who ask for its set.
import { connectChain } from "@sotto/chain";
import { startDeployedNode } from "@sotto/local/chain/node";
import type { OriginSetOptions } from "@sotto/origins/server";
import { Origins } from "@sotto/origins/wallet";
import { createVerifier, loadArtifacts } from "@sotto/prover";
import { verifyOrigin } from "@sotto/prover/origin";
import { type Merchant, openMerchant } from "@sotto/test-world/merchant";
import { ARTIFACTS, accountOf, closeWorld, createWorld, type World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { MemoryCurator } from "../../../packages/origins/test/support/memory-curator.ts";
import { type ServedCurator, serveCurator } from "../../../packages/origins/test/support/served-curator.ts";

const verifier = createVerifier({ artifacts: await loadArtifacts({ folder: ARTIFACTS }) });

export interface Scene {
  readonly world: World;
  readonly curator: MemoryCurator;
  /** Where the curator's files are. */
  readonly site: ServedCurator;
  /** The curator's set, as servers ask for it. */
  readonly set: OriginSetOptions;
  /** Whose payments must show an origin at the service. */
  readonly strict: Merchant;
  /** Who only asks. */
  readonly asking: Merchant;
  /** The origins of a wallet that follows the set, with its newest head. */
  follow(wallet: Wallet): Promise<Origins>;
  close(): Promise<void>;
}

export async function openScene(): Promise<Scene> {
  const node = await startDeployedNode();
  const { chainId, pool } = node.deployment;
  const chain = connectChain({ urls: [node.url], chainId: BigInt(chainId) });
  const curator = new MemoryCurator({ chain, pool, verify: (claim) => verifyOrigin(verifier, claim) });
  const site = await serveCurator(curator);
  const set = { curator: site.url, key: curator.curator as `0x${string}`, name: curator.name };
  const account = accountOf(7);
  const world = await createWorld(node, {
    SOTTO_ORIGINS: JSON.stringify([{ ...set, recipients: [account.address] }]),
  });
  return {
    ...{ world, curator, site, set },
    strict: await openMerchant(world, account),
    asking: await openMerchant(world),
    follow: async (wallet) => {
      const origins = await Origins.open(wallet);
      await origins.follow({ curator: set.key, name: set.name, url: site.url, minimumCrowd: 0 });
      await origins.sync();
      return origins;
    },
    close: async () => {
      site.close();
      await closeWorld();
    },
  };
}
