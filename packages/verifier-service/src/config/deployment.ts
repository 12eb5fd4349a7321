import type { Deployment, DeploymentManifest } from "@sotto/protocol";

/** What a manifest says, as the service's settings that say it. */
export const deploymentSettings = ({ chainId, pool, deploymentBlock, set }: DeploymentManifest) => ({
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
  SOTTO_DEPLOYMENT_BLOCK: String(deploymentBlock),
  SOTTO_ARTIFACT_SET: set,
});

/** Where this service settles. */
export const deploymentOf = ({ chainId, pool }: { chainId: number; pool: string }): Deployment => ({
  chainId: BigInt(chainId),
  pool,
});
