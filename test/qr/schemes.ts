/** The example that each scheme publishes, by the scheme's name. */
export const EXAMPLES: ReadonlyArray<{
	scheme: string;
	example: string;
	/** What it asks its payer for; absent where it holds no amount, or one in another unit. */
	amount?: number;
}> = [
	{
		scheme: 'EMV merchant-presented code',
		// Manual of a central bank for its BR Code.
		example:
			'00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
	},
	{
		scheme: 'UPI (India)',
		amount: 10,
		example:
			'upi://pay?pa=nadeem@npci&pn=nadeem%20chinna&mc=0000&tid=cxnkjcnkjdfdvjndkjfvn&tr=4894398cndhcd23&tn=Pay%20to%20mystar%20store&am=10&mam=null&cu=INR&url=https://mystar.com/orderid=9298yw89e8973e87389e78923ue892',
	},
	{
		scheme: 'SEPA credit transfer (EPC069-12)',
		amount: 1,
		example:
			'BCD\n002\n1\nSCT\nBPOTBEB1\nRed Cross of Belgium\nBE72000000001616\nEUR1\nCHAR\n\nUrgency fund\nSample EPC QR code',
	},
	{
		scheme: 'Swiss QR-bill',
		amount: 1949.75,
		example: [
			'SPC',
			'0200',
			'1',
			'CH4431999123000889012',
			'S',
			'Robert Schneider AG',
			'Rue du Lac',
			'1268',
			'2501',
			'Biel',
			'CH',
			'',
			'',
			'',
			'',
			'',
			'',
			'',
			'1949.75',
			'CHF',
			'S',
			'Pia-Maria Rutschmann-Schnyder',
			'Grosse Marktgasse',
			'28',
			'9400',
			'Rorschach',
			'CH',
			'QRR',
			'210000000003139471430009017',
			'Order of 15.06.2020',
			'EPD',
		].join('\r\n'),
	},
	{
		scheme: 'Short Payment Descriptor (Czechia)',
		amount: 450,
		example:
			'SPD*1.0*ACC:CZ5855000000001265098001*AM:450.00*CC:CZK*MSG:PLATBA ZA ZBOZI*X-VS:1234567890',
	},
	{
		scheme: 'Payment code of Russia (GOST R 56042)',
		example:
			'ST00012|Name=ООО «Три кита»|PersonalAcc=40702810138250123017|BankName=ОАО "БАНК"|BIC=044525225|CorrespAcc=30101810400000000225',
	},
	{
		scheme: 'IPS (Serbia)',
		example:
			'K:PR|V:01|C:1|R:845000000040484987|N:JP EPS BEOGRAD\r\nBALKANSKA 13|I:RSD3596,13|SF:189|S:UPLATA PO RAČUNU ZA EL. ENERGIJU|RO:97163220000111111111000',
	},
	{
		scheme: 'SBP link (Russia)',
		example:
			'https://qr.nspk.ru/AS10003P3RH0LJ2A9ROO038L6NT5RU1M?type=01&bank=000000000001&sum=10000&cur=RUB&crc=F3D0',
	},
	{ scheme: 'Alipay link', example: 'https://qr.alipay.com/bavh4wjlxf12tper3a' },
	{ scheme: 'WeChat Pay link', example: 'weixin://wxpay/bizpayurl?pr=p4lpSuKzz' },
	{ scheme: 'Payconiq link', example: 'https://payconiq.com/pay/2/5bdb1685b93d1c000bde96f2' },
];
