import type { Template } from './packaged.ts'

/** Changes that no check of the template notices, each with the reason why none must. */
export const EXCUSED: readonly (readonly [RegExp, string])[] = [
  [/\.Tags\b|\.Description\b/, 'a label: nothing depends on it'],
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
  [/Role\..*\.PolicyDocument\.Version /, 'these policies mean the same in every version'],
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
const othersOf = (value: unknown, template: Template): readonly unknown[] => {
  if (typeof value === 'number') return value === 0 ? [1] : [value * 10, Math.floor(value / 10)]
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'string') return [`${value}x`]
  const other = isNode(value) ? elsewhere(value, template) : undefined
  return other === undefined ? [] : [other]
}

/**
 * Every removal and every change of a single part of the template, at any depth, and every addition to a
 * resource, its properties and its environment: where, such as `OrdersQueue.Properties.VisibilityTimeout`, and what,
 * with the changed template.
 */
export function* mutants(template: Template): Generator<[name: string, mutant: Template]> {
  function* changes(value: Node, path: string): Generator<[name: string, changed: unknown]> {
    if (/^\w+(\.Properties(\.Environment\.Variables)?)?$/.test(path) && path !== 'Outputs')
      yield [`${path}.Other added`, { ...value, Other: 'x' }]
    for (const [key, each] of Object.entries(value)) {
      const name = path === '' ? key : `${path}.${key}`
      const { [key]: _, ...others } = value
      yield [`${name} removed`, Array.isArray(value) ? value.toSpliced(Number(key), 1) : others]
      const put = (to: unknown) =>
        Array.isArray(value) ? value.with(Number(key), to) : { ...value, [key]: to }
      for (const other of othersOf(each, template)) yield [`${name} = ${JSON.stringify(other)}`, put(other)]
      if (!isNode(each) || elsewhere(each, template) !== undefined) continue
      for (const [where, changed] of changes(each, name)) yield [where, put(changed)]
    }
  }
  const { Resources, Outputs } = template
  for (const [name, changed] of changes(Resources, ''))
    yield [name, { Resources: changed as Template['Resources'], Outputs }]
  for (const [name, changed] of changes(Outputs, 'Outputs'))
    yield [name, { Resources, Outputs: changed as Template['Outputs'] }]
}
