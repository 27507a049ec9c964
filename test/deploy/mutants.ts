import type { Template } from './packaged.ts'

/** One small change of a template. */
export type Mutant = {
  /** Where, such as `OrdersQueue.Properties.VisibilityTimeout`, and what. */
  name: string
  apply: () => void
  undo: () => void
}

/** Changes that no check of the template notices, each with the reason why none must. */
export const EXCUSED: readonly (readonly [RegExp, string])[] = [
  [/\.Tags\b|\.Description\b|\.Sid\b/, 'a label: nothing depends on it'],
  [
    /\.(Policies\.0\.PolicyName|HttpApi\.Properties\.Name|Targets\.0\.Id) |^HttpApi\.Properties\.Name /,
    'a name',
  ],
  [/^Outputs\.DashboardUrl\b/, 'for people'],
  [/^\w+Version\w+\.Properties\.CodeSha256 /, 'Lambda compares it with the code, which is checked'],
  [/^\w+Query\.Properties\.Name\b/, 'a name within the folder of the stack'],
  [/^Outputs\.HttpApiUrl\b|^Outputs\.\w+\.Export\b/, 'osls adds it, and nothing reads it'],
  [
    /(LambdaFunction|HttpApiRoute\w+|FeedAlarms)\.DependsOn\b|^(HttpApiStage|WorkerEvent\w+)\.DependsOn\.0/,
    'the references between these resources imply the same order',
  ],
  [
    /\.Environment\.Variables\.\w+ /,
    'a variable that this function does not read: those that it reads are noticed',
  ],
  [
    /\.(PolicyDocument|AssumeRolePolicyDocument|KeyPolicy)\.Version /,
    'these policies mean the same in every version',
  ],
  [/\.Statement\.\d\.Resource removed$/, 'AWS refuses the policy of a resource without it'],
  [/^AlarmKey\..*\.Resource /, 'the policy of a key is about this key, whatever resource it names'],
]

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** `Ref` and `Fn::GetAtt` to another resource of the same type, so that only its meaning is wrong. */
const elsewhere = (value: Node, { Resources }: Template): unknown => {
  const [[key = '', argument] = []] = Object.entries(value)
  const id = String(key === 'Fn::GetAtt' && Array.isArray(argument) ? argument[0] : argument)
  if (key !== 'Ref' && key !== 'Fn::GetAtt') return undefined
  const others = Object.keys(Resources).filter(
    other => other !== id && Resources[other]?.Type === Resources[id]?.Type,
  )
  const [other] = others
  if (other === undefined) return 'elsewhere'
  return key === 'Ref' ? { Ref: other } : { 'Fn::GetAtt': [other, ...(argument as unknown[]).slice(1)] }
}

/** Other values in place of a value: a number ten times as large and a tenth of it, the other truth, another text. */
const others = (value: unknown, template: Template): readonly unknown[] => {
  if (typeof value === 'number') return value === 0 ? [1] : [value * 10, Math.floor(value / 10)]
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'string') return [`${value}x`]
  const other = isNode(value) ? elsewhere(value, template) : undefined
  return other === undefined ? [] : [other]
}

/**
 * Every removal and every change of a single part of the template, at any depth, and every addition to a
 * resource, its properties and its environment.
 *
 * @param template is changed and restored in place
 */
export function* mutants(template: Template): Generator<Mutant> {
  function* within(parent: Node, path: string): Generator<Mutant> {
    if (/^\w+(\.Properties(\.Environment\.Variables)?)?$/.test(path) && path !== 'Outputs')
      yield {
        name: `${path}.Other added`,
        apply: () => Object.assign(parent, { Other: 'x' }),
        undo: () => delete parent.Other,
      }
    for (const [key, value] of Object.entries(parent)) {
      const name = path === '' ? key : `${path}.${key}`
      const restore = () => {
        if (Array.isArray(parent)) return
        // In its place: the order of the keys is that of a comparison of texts.
        const entries = Object.entries(original)
        for (const [each] of entries) delete parent[each]
        Object.assign(parent, original)
      }
      const original = { ...parent }
      const index = Number(key)
      yield Array.isArray(parent)
        ? {
            name: `${name} removed`,
            apply: () => parent.splice(index, 1),
            undo: () => parent.splice(index, 0, value),
          }
        : { name: `${name} removed`, apply: () => delete parent[key], undo: restore }
      for (const other of others(value, template)) {
        const set = (to: unknown) => () => Object.assign(parent, { [key]: to })
        yield { name: `${name} = ${JSON.stringify(other)}`, apply: set(other), undo: set(value) }
      }
      if (isNode(value) && elsewhere(value, template) === undefined) yield* within(value, name)
    }
  }
  yield* within(template.Resources, '')
  yield* within(template.Outputs, 'Outputs')
}
