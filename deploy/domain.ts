import { type Resources, ref } from './cloudformation.ts'

/** A domain of one's own; `name` is empty without. */
export type Domain = {
  name: string
  certificateArn: string
  /** The zone of Route 53 that gets the record; empty when the record is made elsewhere. */
  hostedZoneId: string
}

const attribute = (name: string) => ({ 'Fn::GetAtt': ['Domain', name] })

/** Where the record of the domain must point: a CNAME, if Route 53 has no zone of it. */
export const DOMAIN_TARGET = attribute('RegionalDomainName')

export const domainResources = ({ name, certificateArn, hostedZoneId }: Domain): Resources =>
  name === ''
    ? {}
    : {
        Domain: {
          Type: 'AWS::ApiGatewayV2::DomainName',
          Properties: {
            DomainName: name,
            DomainNameConfigurations: [
              { CertificateArn: certificateArn, EndpointType: 'REGIONAL', SecurityPolicy: 'TLS_1_2' },
            ],
          },
        },
        DomainMapping: {
          Type: 'AWS::ApiGatewayV2::ApiMapping',
          Properties: { DomainName: ref('Domain'), ApiId: ref('HttpApi'), Stage: ref('HttpApiStage') },
        },
        ...(hostedZoneId !== '' && {
          DomainRecord: {
            Type: 'AWS::Route53::RecordSet',
            Properties: {
              HostedZoneId: hostedZoneId,
              Name: name,
              Type: 'A',
              AliasTarget: { DNSName: DOMAIN_TARGET, HostedZoneId: attribute('RegionalHostedZoneId') },
            },
          },
        }),
      }
