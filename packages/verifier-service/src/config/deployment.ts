import type { Deployment, DeploymentManifest } from "@sotto/protocol";

/** The settings that a deployment manifest determines. */
export const deploymentSettings = ({ chainId, pool, deploymentBlock, set }: DeploymentManifest) => ({
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
  SOTTO_DEPLOYMENT_BLOCK: String(deploymentBlock),
  SOTTO_ARTIFACT_SET: set,
});

/** The deployment in which the service settles payments. */
export const deploymentOf = ({ chainId, pool }: { chainId: number; pool: string }): Deployment => ({
  chainId: BigInt(chainId),
  pool,
});
