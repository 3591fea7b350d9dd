import type { AccountTexts } from './en.ts'

const notYou = 'Si ce n’était pas vous, contactez l’exploitant du service.'
const ignore = 'Si ce n’était pas vous, ignorez ce message : rien ne change.'

/** What people read about their account, in French. */
export const accountTexts: AccountTexts = {
  fields: {
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    passwordHint: 'Au moins 8 caractères.',
    newPassword: 'Nouveau mot de passe',
  },
  first: {
    title: 'Créer le premier compte',
    text: 'Ce service n’a pas encore de compte. La première personne qui ouvre ce lien le crée.',
    submit: 'Créer le compte',
  },
  created: {
    title: 'Votre compte est prêt',
    text: 'Voici votre clé d’API. Elle n’est affichée que maintenant : conservez-la avec vos mots de passe.',
    key: 'Clé d’API',
    username: 'Nom d’utilisateur',
    open: 'Ouvrir le tableau de bord',
  },
  confirm: {
    title: 'Confirmez votre adresse e-mail',
    register: '# devient l’adresse de votre nouveau compte.',
    email: '# devient l’adresse de votre compte.',
    submit: 'Confirmer',
  },
  confirmed: {
    title: 'Votre adresse e-mail est confirmée',
    text: 'Elle est désormais l’adresse de votre compte.',
    next: [],
  },
  reset: {
    title: 'Choisissez un nouveau mot de passe',
    text: 'L’ancien ne fonctionnera plus. Vos clés d’API restent valables.',
    submit: 'Enregistrer le mot de passe',
  },
  changed: {
    title: 'Votre mot de passe est modifié',
    text: 'Le nouveau est désormais valable. Vos clés d’API restent valables.',
    next: [],
  },
  gone: {
    title: 'Ce lien ne fonctionne plus',
    text: 'Il a expiré ou a déjà été utilisé. Demandez-en un nouveau.',
    next: [],
  },
  taken: {
    title: 'Cette adresse a déjà un compte',
    text: 'Vous pouvez choisir un nouveau mot de passe pour ce compte.',
    next: [],
  },
  problems: {
    email: 'Saisissez une adresse e-mail complète, par exemple ann@example.com.',
    password: 'Choisissez un mot de passe de 8 à 1 024 caractères.',
    tooMany: {
      one: 'Il y a eu trop de tentatives. Veuillez réessayer dans # minute.',
      other: 'Il y a eu trop de tentatives. Veuillez réessayer dans # minutes.',
    },
  },
  mails: {
    register: {
      subject: 'Confirmez votre adresse e-mail',
      text: 'Pour créer votre compte, ouvrez ce lien dans les 24 heures :',
      note: ignore,
    },
    taken: {
      subject: 'Vous avez déjà un compte',
      text: 'Quelqu’un a voulu utiliser votre adresse e-mail pour un compte. Elle est déjà l’adresse de votre compte.',
      note: 'Si c’était vous, utilisez ce compte. Si vous avez oublié son mot de passe, demandez un lien pour en choisir un nouveau.',
    },
    email: {
      subject: 'Confirmez votre nouvelle adresse e-mail',
      text: 'Pour que cette adresse devienne celle de votre compte, ouvrez ce lien dans les 24 heures :',
      note: ignore,
    },
    reset: {
      subject: 'Choisissez un nouveau mot de passe',
      text: 'Pour choisir un nouveau mot de passe, ouvrez ce lien dans l’heure qui suit :',
      note: ignore,
    },
    emailChanged: {
      subject: 'L’adresse e-mail de votre compte a été modifiée',
      text: 'Votre compte a maintenant une autre adresse e-mail. Ce message est envoyé à l’ancienne.',
      note: notYou,
    },
    passwordChanged: {
      subject: 'Votre mot de passe a été modifié',
      text: 'Votre compte a maintenant un nouveau mot de passe.',
      note: notYou,
    },
    erasure: {
      subject: 'Votre compte va être effacé',
      text: 'Votre compte et tout son contenu seront définitivement effacés à cette date. Jusque-là, il fonctionne et vous pouvez annuler :',
      note: notYou,
    },
    webhookDisabled: {
      subject: 'Un webhook a été désactivé',
      text: 'Ce webhook de votre compte n’envoie plus rien, car son destinataire échoue depuis trois jours ou ne veut plus de messages :',
      note: 'Il garde sa position : réactivez-le dès que le destinataire fonctionne, et il reprendra à cet endroit.',
    },
  },
}
