import { existsSync, readFileSync } from "node:fs";
import { type DeploymentManifest, LOCAL_CHAIN_IDS, parseDeployment } from "@sotto/protocol";
import { SottoService } from "@sotto/wallet";

const FILE = "deployment.json";

export const isLocal = ({ chainId }: DeploymentManifest): boolean => LOCAL_CHAIN_IDS.includes(BigInt(chainId));

/**
 * Reads the manifest of the pool from deployment.json. On a local chain the service's answer is enough; elsewhere a service
 * could name a pool of its own.
 */
export async function readDeployment(service: string): Promise<DeploymentManifest> {
  if (existsSync(FILE)) return parseDeployment(JSON.parse(readFileSync(FILE, "utf8")));
  const deployment = await new SottoService(service).deployment();
  if (isLocal(deployment)) return deployment;
  throw new Error(
    `${FILE} is missing: get the pool's manifest from its operator and compare it with ${service}/deployment`,
  );
}
