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

/** The members that need docstrings. */
const MEMBERS = ReflectionKind.Method | ReflectionKind.Accessor | ReflectionKind.Property;

/** The members that a type declares itself: those of an object type, of a union's or of an intersection's parts. */
function fieldsOf(type: SomeType | undefined): DeclarationReflection[] {
  if (type?.type === "reflection") return type.declaration.children ?? [];
  return type?.type === "union" || type?.type === "intersection" ? type.types.flatMap(fieldsOf) : [];
}

/** Whether a member implements an interface's or overrides a class's. */
const repeats = ({ implementationOf, overwrites, inheritedFrom }: DeclarationReflection): boolean =>
  (implementationOf ?? overwrites ?? inheritedFrom) !== undefined;

/**
 * The exports without a docstring, as `MODULE: NAME`, and the methods, accessors and fields of exported classes,
 * interfaces and object types, as `MODULE: NAME.MEMBER`. A member that implements or overrides another one needs none.
 * If several modules share an export, it is listed under the module in which TypeDoc documents it.
 */
export function undocumented(project: ProjectReflection): string[] {
  const modules = project.getChildrenByKind(ReflectionKind.Module | ReflectionKind.Namespace);
  return modules.flatMap((module) => exportsOf(module, module.name));
}

function exportsOf(parent: DeclarationReflection, path: string): string[] {
  return (parent.children ?? []).flatMap((child) => {
    if (child instanceof ReferenceReflection) return [];
    const own = isDocumented(child) ? [] : [`${path}: ${child.name}`];
    if (child.kind === ReflectionKind.Namespace) return [...own, ...exportsOf(child, `${path}: ${child.name}`)];
    const members = child.kindOf(ReflectionKind.ClassOrInterface)
      ? child.getChildrenByKind(MEMBERS)
      : child.kind === ReflectionKind.TypeAlias
        ? fieldsOf(child.type)
        : [];
    const silent = members.filter((member) => !repeats(member) && !isDocumented(member));
    return [...own, ...silent.map(({ name }) => `${path}: ${child.name}.${name}`)];
  });
}
