import { type DeploymentManifest, parseDeployment } from "@sotto/protocol";
import { type Environment, refuseProblems, ServerError } from "@sotto/server";

/** What a manifest says, as the settings that say it. */
const given = ({ chainId, pool, deploymentBlock, set }: DeploymentManifest): Record<string, string> => ({
  SOTTO_CHAIN_ID: String(chainId),
  SOTTO_POOL: pool,
  SOTTO_DEPLOYMENT_BLOCK: String(deploymentBlock),
  SOTTO_ARTIFACT_SET: set,
});

/**
 * The environment with what the manifest named by SOTTO_DEPLOYMENT says; unchanged where none is named.
 * @param read text of a file, undefined where there is none
 * @throws ServerError INVALID_CONFIG: no such file, no manifest, or a setting that contradicts it
 */
export function withDeployment(environment: Environment, read: (path: string) => string | undefined): Environment {
  const path = environment["SOTTO_DEPLOYMENT"];
  if (path === undefined) return environment;
  const manifest = readManifest(path, read(path));
  const settings = given(manifest);
  const contradictions = Object.entries(settings).filter(
    ([name, value]) => environment[name] !== undefined && environment[name]?.toLowerCase() !== value,
  );
  refuseProblems(contradictions.map(([name, value]) => `${name} is not what SOTTO_DEPLOYMENT says, ${value}`));
  const artifacts = manifest.set === "development" ? {} : { SOTTO_ARTIFACTS: `circuits/build/${manifest.set}` };
  return { ...artifacts, ...environment, ...settings };
}

function readManifest(path: string, text: string | undefined): DeploymentManifest {
  const refuse = (problem: string): never => {
    throw new ServerError("INVALID_CONFIG", `SOTTO_DEPLOYMENT: ${path} ${problem}`, { count: 1 });
  };
  if (text === undefined) return refuse("does not exist");
  try {
    return parseDeployment(JSON.parse(text));
  } catch (cause) {
    return refuse(cause instanceof SyntaxError ? "is not JSON" : `is no manifest: ${(cause as Error).message}`);
  }
}
