import { type DeclarationReflection, type ProjectReflection, ReferenceReflection, ReflectionKind } from "typedoc";

/** Whether a declaration, or one of its signatures, has a docstring with a summary. */
const isDocumented = ({ comment, signatures = [], getSignature }: DeclarationReflection): boolean =>
  [comment, getSignature?.comment, ...signatures.map((signature) => signature.comment)].some(
    (found) => (found?.summary ?? []).length > 0,
  );

/** Members that do something. */
const ACTIONS = ReflectionKind.Method | ReflectionKind.Accessor;

/**
 * The modules that most programs import: their fields need docstrings too. The fields of the other modules repeat wire
 * formats and events, which docs/interface.md, docs/api.md and docs/protocol.md specify.
 */
const WITH_FIELDS =
  /^(?:@sotto\/(?:chain(?:\/.*)?|client(?:\/.*)?|protocol(?:\/.*)?|resource-server(?:\/.*)?|mcp(?:\/.*)?|x402(?:\/.*)?|cli(?:\/.*)?)|create-sotto)$/;

/** Whether a member implements an interface's or overrides a class's. */
const repeats = ({ implementationOf, overwrites, inheritedFrom }: DeclarationReflection): boolean =>
  (implementationOf ?? overwrites ?? inheritedFrom) !== undefined;

/**
 * The exports without a docstring, as `MODULE: NAME`, and the methods, accessors and, in the modules `withFields`, fields
 * of exported classes and interfaces, as `MODULE: NAME.MEMBER`. A member that implements or overrides another one needs
 * none. If several modules share an export, it is listed under the module in which TypeDoc documents it.
 */
export function undocumented(project: ProjectReflection, withFields = WITH_FIELDS): string[] {
  const modules = project.getChildrenByKind(ReflectionKind.Module | ReflectionKind.Namespace);
  return modules.flatMap((module) => {
    const kinds = withFields.test(module.name) ? ACTIONS | ReflectionKind.Property : ACTIONS;
    return exportsOf(module, module.name, kinds);
  });
}

/** @param kinds of the members that need docstrings */
function exportsOf(parent: DeclarationReflection, path: string, kinds: number): string[] {
  return (parent.children ?? []).flatMap((child) => {
    if (child instanceof ReferenceReflection) return [];
    const own = isDocumented(child) ? [] : [`${path}: ${child.name}`];
    if (child.kind === ReflectionKind.Namespace) return [...own, ...exportsOf(child, `${path}: ${child.name}`, kinds)];
    const members = child.kindOf(ReflectionKind.ClassOrInterface) ? child.getChildrenByKind(kinds) : [];
    const silent = members.filter((member) => !repeats(member) && !isDocumented(member));
    return [...own, ...silent.map(({ name }) => `${path}: ${child.name}.${name}`)];
  });
}
