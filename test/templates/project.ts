// The tests of a project that was made from a template.
import { expect } from "chai";
import { createProject } from "create-sotto";
import { install, npm, type World } from "./world.ts";

/** @param folder the folder of the new project */
export const installsIn = (template: string, folder: () => string, world: () => World): void =>
  void it("installs", async () => {
    createProject(template, folder(), world().registry.url);
    await install(folder());
  });

/** @param environment the environment of the project's own tests */
export function worksIn(folder: () => string, environment: () => NodeJS.ProcessEnv): void {
  it("type-checks", async () => {
    await npm(folder(), ["run", "types"]);
  });

  it("passes its own tests, which start the project", async () => {
    expect(await npm(folder(), ["test"], environment())).to.match(/^ℹ pass [1-9]\d*$/m);
  });
}
