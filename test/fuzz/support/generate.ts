import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { HISTORIES, type History, PROPERTIES, type Property } from "./properties.ts";
import { SEEDED_BUGS, type SeededBug } from "./seeded-bugs.ts";

const contracts = join(import.meta.dirname, "..", "..", "..", "contracts");
/** The generated sources: the pool with all seeded bugs, and all test contracts; git ignores them. */
export const generatedSources = join(import.meta.dirname, "..", "solidity", "generated");

const FILES = ["ShieldedPool.sol", "NoteTree.sol", "libraries/NoteQueue.sol", "test/SmallRingPool.sol"];

const SWITCH = `// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

/// @title Which seeded bug is active
library SeededBug {
    bytes32 private constant SLOT = keccak256("seeded bug");

    function on(uint256 bug) internal view returns (bool active) {
        bytes32 slot = SLOT;
        assembly ("memory-safe") {
            active := eq(sload(slot), bug)
        }
    }
}
`;

/**
 * The source with every bug in it, each behind its number.
 * @throws Error if the statements of a bug do not occur exactly once: the bug must be written anew
 */
export function seed(source: string, bugs: readonly (SeededBug & { readonly number: number })[]): string {
  let seeded = source;
  for (const from of new Set(bugs.map((bug) => bug.from))) {
    const same = bugs.filter((bug) => bug.from === from);
    const occurrences = source.split(from).length - 1;
    if (occurrences !== 1) {
      const names = same.map(({ name }) => name).join(", ");
      throw new Error(`the seeded bug ${names} does not fit its source: its statements occur ${occurrences} times`);
    }
    const branches = same.map(({ number, to }) => `if (SeededBug.on(${number})) {\n${to}\n} else `).join("");
    seeded = seeded.replace(from, () => `${branches}{\n${from}\n}`);
  }
  return seeded;
}

/** Makes imports of files that are not copied point to the originals. */
function redirect(file: string, source: string): string {
  return source.replace(/(from |import )"(\.[^"]+)"/g, (_, keyword: string, path: string) => {
    const target = relative(contracts, join(contracts, dirname(file), path)).replaceAll("\\", "/");
    const copied = FILES.includes(target);
    const from = join(generatedSources, dirname(file));
    const to = copied ? join(generatedSources, target) : join(contracts, target);
    const found = relative(from, to).replaceAll("\\", "/");
    return `${keyword}"${found.startsWith(".") ? found : `./${found}`}"`;
  });
}

const numbered = SEEDED_BUGS.map((bug, index) => ({ ...bug, number: index + 1 }));

const pascal = (name: string): string => name.replaceAll(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

/** The contract that tests a property over a kind of history. */
export const contractOf = (history: History, property: number): string => `${history}_${property}`;
/** The contract that shows that a property finds a bug. */
export const contractOfBug = (bug: SeededBug): string => `Seeded_${pascal(bug.name)}`;

function testContract(name: string, history: History, property: number, bug: number): string {
  const { invariant, check, recorded } = PROPERTIES[property] as Property;
  const called = history === "RecordedPool" && recorded !== undefined ? recorded : check;
  return `
contract ${name} is ${history} {
    constructor() ${history}(${property}, ${bug}) {}

    function invariant_${bug === 0 ? "" : "findsBug_"}${property}_${invariant}() external {
        ${called}();
    }
}
`;
}

/** The properties that are tested over this kind of history. */
export const propertiesOf = (history: History): number[] =>
  Object.keys(PROPERTIES)
    .map(Number)
    .filter((property) => history !== "RecordedPool" || PROPERTIES[property]?.recorded !== null);

/** Writes the seeded contracts and the test contracts, from the contracts as they are now. */
export function writeSources(): void {
  rmSync(generatedSources, { recursive: true, force: true });
  const write = (file: string, content: string): void => {
    const path = join(generatedSources, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  for (const file of FILES) {
    const bugs = numbered.filter((bug) => bug.file === file);
    // Only SmallRingPool is deployed; the compiler need not generate code for its base.
    const source = redirect(file, seed(readFileSync(join(contracts, file), "utf8"), bugs)).replace(
      /^contract ShieldedPool /m,
      "abstract contract ShieldedPool ",
    );
    const depth = dirname(file) === "." ? "./" : "../";
    const imported = `pragma solidity 0.8.37;\n\nimport {SeededBug} from "${depth}SeededBug.sol";`;
    write(file, bugs.length === 0 ? source : source.replace("pragma solidity 0.8.37;", imported));
  }
  write("SeededBug.sol", SWITCH);
  const head = `// SPDX-License-Identifier: GPL-3.0-or-later
pragma solidity 0.8.37;

import {HostileToken, OwnHistory, RecordedPool} from "../Histories.sol";
import {RecordedSteps} from "../Recording.sol";
import {World} from "../World.sol";

contract DeployedWorld is World {
    constructor(string memory artifact, uint256 ringSize, bool honest) World(artifact, ringSize, honest) {}
}

contract Recording is RecordedSteps {
    constructor() RecordedPool(0, 0) {}
}
`;
  const tests = HISTORIES.flatMap((history) =>
    propertiesOf(history).map((property) => testContract(contractOf(history, property), history, property, 0)),
  );
  const seeded = numbered.map((bug) => testContract(contractOfBug(bug), bug.history, bug.property, bug.number));
  write("Tests.t.sol", head + tests.join("") + seeded.join(""));
}
