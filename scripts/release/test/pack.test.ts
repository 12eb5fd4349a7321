import { expect } from "chai";
import { foldersWithDependencies, publicFolders, readManifest } from "../pack.ts";

describe("the packages that a suite installs", () => {
  it("are the packages that it names and all their dependencies", () => {
    const nameOf = (folder: string) => readManifest(folder).name;
    const published = new Set(publicFolders().map(nameOf));
    for (const name of published) {
      const names = foldersWithDependencies([name]).map(nameOf);
      expect(names).to.include(name);
      for (const one of names.map((found) => publicFolders().find((folder) => nameOf(folder) === found)!))
        for (const dependency of Object.keys(readManifest(one).dependencies ?? {}))
          if (published.has(dependency)) expect(names, `${name} needs ${dependency}`).to.include(dependency);
    }
    expect(foldersWithDependencies(["@sotto/mcp"])).to.include.members(["packages/client", "packages/protocol"]);
  });

  it("are no others", () => {
    expect(foldersWithDependencies(["@sotto/protocol", "@sotto/test-kit"])).to.deep.equal(["packages/protocol"]);
    expect(foldersWithDependencies(["@sotto/cli"])).to.not.include("packages/mcp");
  });
});
