// Properties that are made when somebody reads them, where a class would not do: they are copied with the object.

/**
 * Gives the way to add such a property to objects. They share one getter: a getter in a literal costs a new shape of
 * objects each time, and V8 keeps that shape, and with it all that the getter sees, until it collects everything.
 */
export function lazyProperty<K extends string, S, V>(
  name: K,
  make: (source: S) => V,
): <T extends object>(target: T, source: S) => T & { readonly [key in K]: V } {
  const source = Symbol(name)
  const property: PropertyDescriptor = {
    enumerable: true,
    get(this: { readonly [source]: S }) {
      return make(this[source])
    },
  }
  return (target, value) => {
    Object.defineProperty(target, source, { value })
    return Object.defineProperty(target, name, property) as typeof target & { readonly [key in K]: V }
  }
}
