import {
  type DeclarationReflection,
  type ProjectReflection,
  ReferenceReflection,
  ReflectionKind,
  type SomeType,
} from "typedoc";

/** Whether a declaration, or one of its signatures, has a docstring with a summary. */
const isDocumented = ({ comment, signatures = [], getSignature }: DeclarationReflection): boolean =>
  [comment, getSignature?.comment, ...signatures.map((signature) => signature.comment)].some(
    (found) => (found?.summary ?? []).length > 0,
  );

/** The members that are checked. */
const MEMBERS = ReflectionKind.Method | ReflectionKind.Accessor | ReflectionKind.Property;

/** Whether a type has a unit or a range, or may be absent. */
function leavesQuestion(type: SomeType | undefined): boolean {
  if (type?.type === "intrinsic") return ["number", "bigint", "undefined", "unknown", "any"].includes(type.name);
  if (type?.type === "literal") return type.value === null;
  if (type?.type === "array") return leavesQuestion(type.elementType);
  // readonly arrays
  if (type?.type === "typeOperator") return leavesQuestion(type.target);
  return type?.type === "union" && type.types.some(leavesQuestion);
}

/** Whether a member needs a docstring: all but the fields whose name and type say everything. */
const needsDocstring = ({ kind, flags, type }: DeclarationReflection): boolean =>
  kind !== ReflectionKind.Property || flags.isOptional || leavesQuestion(type);

/** Words that add nothing to a name. */
const EMPTY = new Set(["the", "a", "an", "of", "its", "this", "that", "which", "is", "and", "in", "for", "to", "by"]);

const wordsOf = (text: string): string[] =>
  (
    text
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  ).map((word) => word.replace(/(?<=..)s$/, ""));

/** Whether a field's docstring says nothing that its name, its type and its owner do not. */
function isNoise(member: DeclarationReflection): boolean {
  if (member.kind !== ReflectionKind.Property || (member.comment?.blockTags ?? []).length > 0) return false;
  const summary = (member.comment?.summary ?? []).map(({ text }) => text).join("");
  const known = new Set([member.name, String(member.type), member.parent?.name ?? ""].flatMap(wordsOf));
  const words = wordsOf(summary).filter((word) => !EMPTY.has(word));
  return words.length > 0 && words.every((word) => known.has(word));
}

/** The members that a type declares itself: those of an object type, of a union's or of an intersection's parts. */
function fieldsOf(type: SomeType | undefined): DeclarationReflection[] {
  if (type?.type === "reflection") return type.declaration.children ?? [];
  return type?.type === "union" || type?.type === "intersection" ? type.types.flatMap(fieldsOf) : [];
}

/** Whether a member implements an interface's or overrides a class's. */
const repeats = ({ implementationOf, overwrites, inheritedFrom }: DeclarationReflection): boolean =>
  (implementationOf ?? overwrites ?? inheritedFrom) !== undefined;

/** An export, or a member of an exported type, with its path: `MODULE: NAME` or `MODULE: NAME.MEMBER`. */
interface Named {
  readonly path: string;
  readonly declaration: DeclarationReflection;
  readonly isMember: boolean;
}

/** All exports with their methods, accessors and fields. An export of several modules belongs to TypeDoc's choice. */
const namedIn = (project: ProjectReflection): Named[] =>
  project
    .getChildrenByKind(ReflectionKind.Module | ReflectionKind.Namespace)
    .flatMap((module) => exportsOf(module, module.name));

function exportsOf(parent: DeclarationReflection, path: string): Named[] {
  return (parent.children ?? []).flatMap((child) => {
    if (child instanceof ReferenceReflection) return [];
    const own: Named = { path: `${path}: ${child.name}`, declaration: child, isMember: false };
    if (child.kind === ReflectionKind.Namespace) return [own, ...exportsOf(child, own.path)];
    const members = child.kindOf(ReflectionKind.ClassOrInterface)
      ? child.getChildrenByKind(MEMBERS)
      : child.kind === ReflectionKind.TypeAlias
        ? fieldsOf(child.type)
        : [];
    return [
      own,
      ...members.map((member) => ({ path: `${own.path}.${member.name}`, declaration: member, isMember: true })),
    ];
  });
}

/**
 * The exports without a docstring, and the methods, accessors and fields that need one. A member that implements or
 * overrides another one needs none, and neither does a field whose name and type say everything.
 */
export const undocumented = (project: ProjectReflection): string[] =>
  namedIn(project)
    .filter(({ declaration, isMember }) => !isMember || (needsDocstring(declaration) && !repeats(declaration)))
    .filter(({ declaration }) => !isDocumented(declaration))
    .map(({ path }) => path);

/** The fields whose docstring only repeats their name, their type and their owner. */
export const repeating = (project: ProjectReflection): string[] =>
  namedIn(project)
    .filter(
      ({ declaration, isMember }) =>
        isMember && !needsDocstring(declaration) && !repeats(declaration) && isNoise(declaration),
    )
    .map(({ path }) => path);
