// The template of an agent, installed with npm as users do: it starts programs from its own node_modules.
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { installsIn, worksIn } from "../templates/project.ts";
import type { World } from "../templates/world.ts";
import { openAddons } from "./needs.ts";

describe("the template client-mcp", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  before(async () => {
    world = await openAddons();
  });
  const folder = () => join(world.folder, "client-mcp");

  installsIn("client-mcp", folder, () => world);
  worksIn(folder, () => world.environment);
});
