// Every template as a stranger uses it: created outside the checkout, installed from a registry, type-checked, started and
// tested against `npm run dev`.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { createProject, TEMPLATES } from "create-sotto";
import { slow } from "../kit/slow.ts";
import { openWorld, type World } from "./world.ts";

const run = promisify(execFile);

describe("templates", function () {
  slow(this, "packages are packed and installed, and payments proved");
  let world: World;
  before(async () => {
    world = await openWorld();
  });

  for (const template of TEMPLATES)
    describe(template.name, () => {
      let folder: string;
      before(() => {
        folder = join(world.folder, template.name);
        createProject(template.name, folder, world.registry.url);
      });
      // An installed project has thousands of files.
      after(() => rm(folder, { recursive: true, force: true }));
      /** @returns what the command prints @throws with its output if it fails */
      const npm = async (...args: string[]): Promise<string> => {
        const env = { ...process.env, ...world.environment };
        try {
          const { stdout } = await run("npm", args, { cwd: folder, env });
          return stdout;
        } catch (error) {
          const { stdout, stderr } = error as { stdout: string; stderr: string };
          throw new Error(`npm ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
        }
      };

      it("installs", async () => {
        await npm("install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund");
      });

      it("type-checks", async () => {
        await npm("run", "types");
      });

      it("passes its tests, which start it", async () => {
        expect(await npm("test")).to.match(/^ℹ pass [1-9]\d*$/m);
      });
    });
});
