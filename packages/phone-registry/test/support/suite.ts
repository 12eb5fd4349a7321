import { type DatabaseName, overDatabases } from "@sotto/test-kit/databases";
import type { RegistryOptions } from "../../src/index.ts";
import { createWorld, type World } from "./world.ts";

/** `overDatabases` for the registry. @param tests receive a function that creates a world; it is closed after the test */
export function overWorlds(
  title: string,
  databases: readonly DatabaseName[],
  tests: (newWorld: (change?: Partial<RegistryOptions>) => Promise<World>) => void,
): void {
  overDatabases(title, databases, (newUrl) => {
    const worlds: World[] = [];
    afterEach(async () => {
      for (const world of worlds.splice(0)) await world.close();
    });
    tests(async (change) => {
      const world = await createWorld(await newUrl(), change);
      worlds.push(world);
      return world;
    });
  });
}
