// osls loads values of serverless.yml from .js and .cjs files, not from .ts.
export * from './template.ts'
