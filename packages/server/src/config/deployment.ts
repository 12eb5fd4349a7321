import { existsSync, readFileSync } from "node:fs";
import { type DeploymentManifest, parseDeployment } from "@sotto/protocol";
import { ServerError } from "../errors.ts";
import { assertNoProblems, type Environment } from "./read.ts";

/** Written by `npm run deploy:local`. */
export const LOCAL_DEPLOYMENT = ".sotto/deployment.json";

const NO_POOL =
  `no pool is configured: set SOTTO_DEPLOYMENT or SOTTO_POOL, or run \`npm run deploy:local\`, which deploys a pool on a ` +
  `local chain and writes ${LOCAL_DEPLOYMENT}`;

const readIfPresent = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, "utf8") : undefined);

/**
 * Adds the settings of a deployment manifest to the environment. SOTTO_DEPLOYMENT names the manifest; if neither it nor
 * SOTTO_POOL is set, the manifest is the one that `npm run deploy:local` wrote, unless NODE_ENV is production.
 * @param settingsOf the settings that a manifest determines
 * @param read returns the text of a file, or undefined if it does not exist
 * @throws ServerError INVALID_CONFIG if no pool is configured, the manifest is missing or invalid, or a setting contradicts it
 */
export function withDeployment(
  environment: Environment,
  settingsOf: (manifest: DeploymentManifest) => Readonly<Record<string, string>>,
  read: (path: string) => string | undefined = readIfPresent,
): Environment {
  const given = (name: string) => environment[name] || undefined;
  const isDevelopment = given("SOTTO_POOL") === undefined && given("NODE_ENV") !== "production";
  const local = isDevelopment && read(LOCAL_DEPLOYMENT) !== undefined;
  const path = given("SOTTO_DEPLOYMENT") ?? (local ? LOCAL_DEPLOYMENT : undefined);
  if (path === undefined && given("SOTTO_POOL") === undefined) assertNoProblems([NO_POOL]);
  if (path === undefined) return environment;
  const settings = settingsOf(parseManifest(path, read(path)));
  const contradictions = Object.entries(settings).filter(
    ([name, value]) => given(name) !== undefined && given(name)?.toLowerCase() !== value,
  );
  assertNoProblems(
    contradictions.map(([name, value]) => `${name} contradicts the manifest ${path}, which says ${value}`),
  );
  return { ...environment, SOTTO_DEPLOYMENT: path, ...settings };
}

/** Reads the manifest that SOTTO_DEPLOYMENT names. @throws ServerError INVALID_CONFIG */
export const readDeployment = (path: string): DeploymentManifest => parseManifest(path, readIfPresent(path));

function parseManifest(path: string, text: string | undefined): DeploymentManifest {
  const refuse = (problem: string): never => {
    throw new ServerError("INVALID_CONFIG", `SOTTO_DEPLOYMENT: ${path} ${problem}`, { count: 1 });
  };
  if (text === undefined) return refuse("does not exist");
  try {
    return parseDeployment(JSON.parse(text));
  } catch (cause) {
    return refuse(cause instanceof SyntaxError ? "is not JSON" : `is not a manifest: ${(cause as Error).message}`);
  }
}
