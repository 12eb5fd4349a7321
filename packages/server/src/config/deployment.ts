import { existsSync, readFileSync } from "node:fs";
import { type DeploymentManifest, parseDeployment } from "@sotto/protocol";
import { ServerError } from "../errors.ts";
import { type Environment, refuseProblems } from "./read.ts";

/** Written by `npm run deploy:local`. */
export const LOCAL_DEPLOYMENT = ".sotto/deployment.json";

const NO_POOL =
  `SOTTO_DEPLOYMENT names no manifest and there is no ${LOCAL_DEPLOYMENT}: \`npm run deploy:local\` makes a pool on a ` +
  "local chain and writes it";

const readIfPresent = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/**
 * The environment with what a deployment's manifest says: the one that SOTTO_DEPLOYMENT names or, if no pool is named
 * either, that of `npm run deploy:local`. Unchanged if SOTTO_POOL alone names the pool.
 * @param says the settings a manifest stands for
 * @param read text of a file, undefined where there is none
 * @throws ServerError INVALID_CONFIG: no pool is named, no such file, no manifest, or a setting that contradicts it
 */
export function withDeployment(
  environment: Environment,
  says: (manifest: DeploymentManifest) => Readonly<Record<string, string>>,
  read: (path: string) => string | undefined = readIfPresent,
): Environment {
  const given = (name: string) => environment[name] || undefined;
  const local = given("SOTTO_POOL") === undefined && read(LOCAL_DEPLOYMENT) !== undefined;
  const path = given("SOTTO_DEPLOYMENT") ?? (local ? LOCAL_DEPLOYMENT : undefined);
  if (path === undefined && given("SOTTO_POOL") === undefined) refuseProblems([NO_POOL]);
  if (path === undefined) return environment;
  const settings = says(readManifest(path, read(path)));
  const contradictions = Object.entries(settings).filter(
    ([name, value]) => given(name) !== undefined && given(name)?.toLowerCase() !== value,
  );
  refuseProblems(contradictions.map(([name, value]) => `${name} is not what the manifest ${path} says, ${value}`));
  return { ...environment, SOTTO_DEPLOYMENT: path, ...settings };
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
