// What the tests of this suite need: all templates and guides that use neither @sotto/mcp nor @sotto/x402. The others are in
// test/addons, so that this suite does not run again after a change in one of these two packages.
import { inLongRun } from "@sotto/test-kit/matrix";
import { TEMPLATES } from "create-sotto";
import { openWorld, type World } from "./world.ts";

/** Templates that the long run installs separately, each as a user would. */
export const ALONE = inLongRun<string>(
  [],
  [
    "resource-server-express",
    "resource-server-fastify",
    "resource-server-hono",
    "resource-server-llm",
    "client",
    "browser",
  ],
);
/** Templates that share one installation. */
export const TOGETHER = TEMPLATES.map(({ name }) => name).filter(
  (name) => name !== "client-mcp" && !ALONE.includes(name),
);

const FOREIGN = [
  "@hono/node-server",
  "@types/express",
  "@types/node",
  "ethers",
  "express",
  "fastify",
  "hono",
  "typescript",
];

const OWN = ["cli", "client", "phone-registry", "protocol", "resource-server", "server", "wallet"];

export const openTemplates = (): Promise<World> =>
  openWorld({ suite: import.meta.dirname, together: TOGETHER, own: OWN, foreign: FOREIGN });
