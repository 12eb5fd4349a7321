// What the tests of this suite need.
import { openWorld, type World } from "../templates/world.ts";

const FOREIGN = [
  "@modelcontextprotocol/sdk",
  "@types/express",
  "@types/node",
  "@x402/core",
  "@x402/express",
  "@x402/extensions",
  "@x402/fetch",
  "ethers",
  "express",
  "typescript",
  "zod",
];

const OWN = ["cli", "client", "mcp", "protocol", "resource-server", "wallet", "x402"];

export const openAddons = (): Promise<World> =>
  openWorld({ suite: import.meta.dirname, together: [], own: OWN, foreign: FOREIGN });
